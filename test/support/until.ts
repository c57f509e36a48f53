/** Waiting for what comes in its own time: looked for again and again, never slept for, and never without an end. */

/** Far more than anything here takes on a loaded machine, and less than the test runner's own patience. */
const SECONDS = 90;

/**
 * Waits until `met` says so; a failure counts as a no, for servers come and go.
 * @throws once `seconds` have passed, with the last failure as its cause
 */
export async function until(met: () => boolean | Promise<boolean>, seconds = SECONDS): Promise<void> {
  const end = performance.now() + seconds * 1_000;
  let failure: unknown;
  for (;;) {
    try {
      if (await met()) return;
    } catch (error) {
      failure = error;
    }
    if (performance.now() > end)
      throw new Error(`waited ${seconds} s in vain for ${met}`, { cause: failure });
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
