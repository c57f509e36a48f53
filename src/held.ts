/**
 * Something that is open as long as anybody needs it: the settings in force and the requests judged by them hold those settings,
 * settings hold their pools and sinks. It is closed once, when the last holder lets go.
 */

/** See the file's header. */
export class Held<T> {
  readonly value: T;
  readonly #close: (value: T) => Promise<unknown>;
  #holders = 0;
  #closed: Promise<unknown> | undefined;

  /** @param close called once, when nobody holds `value` any more */
  constructor(value: T, close: (value: T) => Promise<unknown>) {
    this.value = value;
    this.#close = close;
  }

  /**
   * Holds the value.
   * @returns lets go; resolves, for the last holder, when the value is closed. Only the first call counts.
   * @throws Error when it was closed already
   */
  hold(): () => Promise<void> {
    if (this.#closed !== undefined) throw new Error("held after it was closed");
    this.#holders += 1;
    let holds = true;
    return async () => {
      if (holds) {
        holds = false;
        this.#holders -= 1;
        if (this.#holders === 0) await this.end();
      }
    };
  }

  /** Closes now, whoever holds it. */
  async end(): Promise<void> {
    this.#closed ??= this.#close(this.value);
    await this.#closed;
  }
}
