/** Verdicts on short texts, kept: servers ask the same forms again and again. */

/** Texts kept for one question, and the longest of them in UTF-16 units; what is kept stays under two megabytes. */
const MOST = 2_048;
const LONGEST = 256;

/**
 * The same function of a text, which looks at a short one only once; `judge` has to be pure. What is kept is
 * forgotten when there is too much.
 */
export function remembered<Verdict>(judge: (text: string) => Verdict): (text: string) => Verdict {
  const known = new Map<string, Verdict>();
  return (text) => {
    if (text.length > LONGEST) return judge(text);
    const before = known.get(text);
    if (before !== undefined || known.has(text)) return before as Verdict;
    const verdict = judge(text);
    if (known.size >= MOST) known.clear();
    known.set(text, verdict);
    return verdict;
  };
}
