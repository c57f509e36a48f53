/** Checked headers of one request: lower-case name → the only value. Untrusted content, trusted shape (http/framing.ts). */
export type Headers = ReadonlyMap<string, string>;
