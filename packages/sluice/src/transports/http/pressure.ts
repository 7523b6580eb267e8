/** The pressure on this process: the signals that admission control acts on, besides its own counts. */

/** From which use of its resources on a process refuses new work. */
export interface Thresholds {
  /**
   * New work is refused from this part of the heap on, by default 0.9. Above it, garbage collection takes the time that
   * calls need.
   */
  readonly heap?: number
}

export interface AdmittedRequests {
  readonly running: number
  /** Counted since the start. */
  readonly finished: number
}

export interface Pressure {
  /** Whether memory is short. Then new work is refused. */
  readonly heapHigh: boolean
  /** Whether a new request must be refused because it would wait too long for the event loop. */
  loopLate(running: number): boolean
}

/** The number of requests below which none is refused because of the event loop. One client is not an overload. */
export const loopExemptRequests = 8
/** How long a request may wait for the event loop, in milliseconds. */
export const maxLoopWaitMs = 1_000
