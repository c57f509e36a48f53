/** The methods that policies can be about, and what a call of each names. MCP 2026-07-28, and 2025-11-25 for older traffic. */

/** What a method can name. */
export type TargetKind = "tool" | "prompt" | "resource";

/** Method → the kinds of name its calls carry; most carry none. The id of a task carries the tool it came from. */
export const METHOD_TARGETS: ReadonlyMap<string, readonly TargetKind[]> = new Map<
  string,
  readonly TargetKind[]
>([
  ["tools/call", ["tool"]],
  ["prompts/get", ["prompt"]],
  ["resources/read", ["resource"]],
  ["resources/subscribe", ["resource"]],
  ["resources/unsubscribe", ["resource"]],
  ["completion/complete", ["prompt", "resource"]],
  ["server/discover", []],
  ["tools/list", []],
  ["prompts/list", []],
  ["resources/list", []],
  ["resources/templates/list", []],
  ["subscriptions/listen", []],
  ["tasks/get", ["tool"]],
  ["tasks/update", ["tool"]],
  ["tasks/cancel", ["tool"]],
  ["initialize", []],
  ["ping", []],
  ["logging/setLevel", []],
  ["notifications/cancelled", []],
  ["notifications/initialized", []],
  ["notifications/progress", []],
  ["notifications/roots/list_changed", []],
]);
