/**
 * What one running call may do next, in one screen: the model that the real code is compared with. After a fault it does
 * not know whether a step was made, so it keeps every state that is possible; what is seen later rules some out.
 */

export interface CallState {
  /** `undefined`: no record. */
  readonly process?: string
  readonly exists: boolean
  readonly rounds: number
  readonly open: readonly string[]
  readonly answered: { readonly [key: string]: string }
  readonly outcome?: string
}

export const none: CallState = { exists: false, rounds: 0, open: [], answered: {} }

type Change = (state: CallState) => CallState

export const created =
  (process?: string): Change =>
  () => ({ ...none, exists: true, ...(process !== undefined && { process }) })

export const claimed =
  (process: string): Change =>
  (state) =>
    state.exists && state.outcome === undefined && state.process === undefined ? { ...state, process } : state

const isRunBy = (state: CallState, process: string): boolean =>
  state.exists && state.outcome === undefined && state.process === process

export const asked =
  (process: string, names: readonly string[]): Change =>
  (state) =>
    isRunBy(state, process)
      ? {
          ...{ ...state, rounds: state.rounds + 1, answered: {} },
          open: names.map((name) => `${name}.${state.rounds + 1}`),
        }
      : state

export const answered =
  (given: { readonly [key: string]: string }): Change =>
  (state) => {
    const taken = Object.entries(given).filter(([key]) => state.outcome === undefined && state.open.includes(key))
    return {
      ...state,
      open: state.open.filter((key) => !taken.some(([each]) => each === key)),
      answered: { ...state.answered, ...Object.fromEntries(taken) },
    }
  }

const ended = (state: CallState, outcome: string): CallState => ({ ...state, open: [], answered: {}, outcome })

export const finished =
  (process: string, outcome: string): Change =>
  (state) =>
    isRunBy(state, process) ? ended(state, outcome) : state

export const cancelled: Change = (state) =>
  state.exists && state.outcome === undefined ? ended(state, 'cancelled') : state

export const abandoned =
  (process: string): Change =>
  (state) =>
    isRunBy(state, process) ? ended(state, 'in doubt') : state
