/** Key ids that an issuer's keys were searched for in vain, so that one that comes again is told from one that may be new. */

const MAX_IDS = 64;
/** In characters. A longer one is no id that an issuer gives. */
const MAX_LENGTH = 256;

/** Bounded, the oldest goes first. */
export class MissingKeys {
  readonly #ids = new Set<string>();

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  /** @param id untrusted */
  add(id: string): void {
    this.#ids.delete(id);
    if (id.length > MAX_LENGTH) return;
    this.#ids.add(id);
    const [oldest] = this.#ids;
    if (this.#ids.size > MAX_IDS && oldest !== undefined) this.#ids.delete(oldest);
  }

  delete(id: string): void {
    this.#ids.delete(id);
  }
}
