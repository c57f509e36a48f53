/** A resource template (RFC 6570) as a pattern of the URIs that it makes: each expression becomes `*`. Pure. */

/**
 * @param template untrusted
 * @returns undefined where the pattern would not be bound to a scheme and something behind it, or could not be written
 */
export function templatePattern(template: string): string | undefined {
  const fixed = template.replaceAll(EXPRESSION, "");
  const pattern = template.replaceAll(EXPRESSION, "*").replaceAll(/\*{2,}/g, "*");
  const isBound = /^[A-Za-z][A-Za-z0-9+.-]*:[^*]*[^*/:]/.test(pattern);
  const isPlain = /^[!-~]{1,512}$/.test(pattern) && !/[{}?*\\^$]/.test(fixed) && !pattern.includes(".*");
  return isBound && isPlain ? pattern : undefined;
}

const EXPRESSION = /\{[^{}]*\}/g;
