/** The call up to which cold starts are measured. */
export const CALLS = 100;

/** One cold start, in milliseconds. */
export interface Round {
  /** Until the first call has been answered. */
  readonly first: number;
  /** From there to the last. */
  readonly rest: number;
}
