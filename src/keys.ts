/** The ring in force. It is replaced as a whole when the configuration is read again; a use takes it once. */
import type { LoadedConfig } from "./config/load.ts";
import { ephemeralKeyring, type KeyLabel, type Keyring, loadKeyring } from "./keyring.ts";
import type { Log } from "./log.ts";
import { type RingView, rotationFaults } from "./rotation.ts";

/** What the holder needs besides a configuration. */
export interface KeysSurroundings {
  readonly log: Log;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly random: (bytes: number) => Buffer;
}

/** See the file's header. */
export class Keys {
  readonly #log: Log;
  readonly #now: () => number;
  #ring: Keyring;

  /** Derives the ring of a configuration; a random one where it has no keys. Logs it by label. */
  constructor({ config, secrets }: LoadedConfig, { log, now, random }: KeysSurroundings) {
    this.#log = log;
    this.#now = now;
    this.#ring =
      config.keys === undefined
        ? ephemeralKeyring(random)
        : loadKeyring(secrets.keys, config.keys.primary, config.keys.next);
    this.#tell();
  }

  /** The ring for sealing and opening now. */
  get ring(): Keyring {
    return this.#ring;
  }

  /** The keys in force by label, and which of them seals now. */
  labels(): KeyLabel[] {
    return this.#ring.labels(this.#now() / 1000);
  }

  /**
   * Derives the ring of another configuration, which has keys if the one before has them.
   * @returns puts it in force, and warns of a step of rotation that comes too early; cannot fail
   */
  prepare({ config, secrets }: LoadedConfig): () => void {
    if (config.keys === undefined) return () => undefined;
    const ring = loadKeyring(secrets.keys, config.keys.primary, config.keys.next);
    const { replicas } = config.server;
    return () => {
      if (String(ring) === String(this.#ring)) return;
      const before = view(this.labels());
      this.#ring = ring;
      this.#tell();
      for (const fault of rotationFaults(before, view(this.labels()), replicas)) {
        this.#log.warn({ fault }, "this step of a key rotation loses open rounds");
      }
    };
  }

  #tell(): void {
    this.#log.info({ ring: this.labels(), rule: String(this.#ring) }, "keys in force");
  }
}

/** By key id, so that another secret under an old label is another key. */
function view(labels: readonly KeyLabel[]): RingView {
  return {
    seals: labels.find(({ seals }) => seals)?.keyId ?? "",
    names: new Set(labels.map(({ keyId }) => keyId)),
  };
}
