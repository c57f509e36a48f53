/**
 * What every room may say to the operator's log. A pino logger satisfies it.
 * Callers never pass a secret, a token, a state, answers or arguments.
 */
export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
