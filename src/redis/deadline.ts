/** Waits that end. */

/** Settles as `promise` does, or with `late()` once `performance.now()` passes `deadline`. */
export async function before<T>(deadline: number, promise: Promise<T>, late: () => T): Promise<T> {
  const alarm = Promise.withResolvers<T>();
  const timer = setTimeout(
    () => {
      try {
        alarm.resolve(late());
      } catch (error) {
        alarm.reject(error);
      }
    },
    Math.max(0, deadline - performance.now()),
  );
  try {
    return await Promise.race([promise, alarm.promise]);
  } finally {
    clearTimeout(timer);
  }
}
