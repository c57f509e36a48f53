/** How the operator has started this program, so that what to run next can be typed in the same way. Pure. */
import { basename, isAbsolute, relative } from "node:path";

/**
 * @param script `process.argv[1]`
 * @param folder the working directory
 * @param isNpx npm runs it, which may bring a Node of its own
 * @returns `sealgate` or `node PATH`, behind `npx` where that was
 */
export function programAs(script: string, folder: string, isNpx: boolean): string {
  const npx = isNpx ? "npx " : "";
  if (/[\\/]node_modules[\\/]\.bin[\\/]/.test(script)) return "npx sealgate";
  if (!/^main\.(ts|js)$/.test(basename(script))) return `${npx}sealgate`;
  const near = relative(folder, script);
  const path = near.startsWith("..") || isAbsolute(near) ? script : near;
  return `${npx}node ${shellWord(path)}`;
}

/** A text as one word for a POSIX shell. */
export function shellWord(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
