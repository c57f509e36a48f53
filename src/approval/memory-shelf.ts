/** The approvals of one process, gone with it: for `redemption.store: memory`. */
import {
  BOUNDS,
  type Change,
  expiryOf,
  type Look,
  type Lying,
  nameOf,
  type Shelf,
  type ShelfName,
} from "./shelf.ts";

/** An empty shelf. @param now milliseconds since the epoch */
export function createMemoryShelf(now: () => number): Shelf {
  const shelves: Readonly<Record<ShelfName, Map<string, Lying>>> = {
    remembered: new Map(),
    waiting: new Map(),
  };
  const look = (name: ShelfName, fits: (lying: Lying) => boolean): Look => {
    const at = now();
    const found = [...shelves[name].values()].filter((lying) => expiryOf(lying.text) > at && fits(lying));
    return { now: at, found };
  };
  const sweep = (name: ShelfName): void => {
    const at = now();
    for (const [key, { text }] of shelves[name]) if (expiryOf(text) <= at) shelves[name].delete(key);
  };
  return {
    async read(name, places) {
      const wanted = new Set(places.map(nameOf));
      return look(name, ({ place }) => wanted.has(nameOf(place)));
    },
    async about(name, about) {
      return look(name, ({ place }) => about.includes(place.about));
    },
    async all(name) {
      return look(name, () => true);
    },
    async change(name, { place, instead, text }: Change) {
      sweep(name);
      const shelf = shelves[name];
      const key = nameOf(place);
      if ((shelf.get(key)?.text ?? "") !== instead) return "stale";
      if (text === "") {
        shelf.delete(key);
        return "done";
      }
      const { all, ofOne } = BOUNDS[name];
      const own = [...shelf.values()].filter(({ place: other }) => other.owner === place.owner).length;
      if (instead === "" && (shelf.size >= all || own >= ofOne)) return "full";
      shelf.set(key, { place, text });
      return "done";
    },
    async close() {},
  };
}
