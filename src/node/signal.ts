/** Resolves when somebody wants us gone: Ctrl-C, kill, a closed terminal. A second one is ignored while we clean up. */
export function whenStopped(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => resolve());
  });
}
