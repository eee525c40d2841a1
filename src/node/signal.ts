/** When to go: somebody pressed Ctrl-C, killed us, closed the terminal, or ended the npm that runs us. */

/** npm ends only the shell that it put between itself and us; then our parent is another one. */
const PARENT_CHECK_MS = 250;

export function whenStopped(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => resolve());
    if (process.env.npm_lifecycle_event === undefined) return;
    const parent = process.ppid;
    setInterval(() => process.ppid !== parent && resolve(), PARENT_CHECK_MS).unref();
  });
}
