/**
 * The state of `sluice approvals watch`, and what keys do to it. It is pure, so that tests own the clock and the screen.
 */

import type { TicketView } from 'sluice/approvals'

export interface WatchState {
  /** The pending tickets, oldest first. */
  readonly tickets: readonly TicketView[]
  /** The id of the ticket under the cursor. */
  readonly selected: string | undefined
  /** Since when that ticket is under the cursor. */
  readonly selectedAt: number
  /** `ticket` shows one ticket on the whole screen. */
  readonly view: 'list' | 'ticket'
  /** The first line of the ticket that is shown. */
  readonly scroll: number
  /** The note for the decision about the selected ticket. */
  readonly note: string
  /** Keys go into the note. */
  readonly isTyping: boolean
  /** What happened last. */
  readonly message: string
}

export interface WatchKey {
  /** The name of the key, such as `up`, `return` or `a`. */
  readonly name: string
  readonly ctrl: boolean
  /** What the key writes. */
  readonly text: string
}

/** What the screen shows of the selected ticket. */
export interface Shown {
  /** All of it is on the screen, or was read to its end. */
  readonly isComplete: boolean
  readonly maxScroll: number
  /** The number of lines that `space` moves on. */
  readonly page: number
}

/** What the program does after a key. */
export type WatchAction =
  | { readonly kind: 'leave' }
  | { readonly kind: 'decide'; readonly id: string; readonly approved: boolean; readonly note: string }

export interface WatchStep {
  readonly state: WatchState
  readonly action?: WatchAction
}

/**
 * Decisions about a ticket that came under the cursor later than this are ignored. Otherwise a key that was meant for the
 * ticket before would decide it. The console does the same.
 */
export const settleMs = 700

const maxNote = 1000

export const emptyWatch: WatchState = {
  ...{ tickets: [], selected: undefined, selectedAt: 0, view: 'list', scroll: 0, note: '', isTyping: false },
  message: '',
}

export const isSettled = ({ selectedAt }: WatchState, now: number): boolean => now - selectedAt >= settleMs

export const selectedTicket = ({ tickets, selected }: WatchState): TicketView | undefined =>
  tickets.find(({ id }) => id === selected)

/** Takes the tickets as they are now. The cursor stays on its ticket, and moves to the next one if that was decided. */
export function withTickets(state: WatchState, tickets: readonly TicketView[], now: number): WatchState {
  const next = { ...state, tickets }
  if (tickets.some(({ id }) => id === state.selected)) return next
  const at = state.tickets.findIndex(({ id }) => id === state.selected)
  return select(next, Math.min(Math.max(at, 0), tickets.length - 1), now)
}

function select(state: WatchState, at: number, now: number): WatchState {
  const selected = state.tickets[at]?.id
  if (selected === state.selected) return state
  return { ...state, selected, selectedAt: now, view: 'list', scroll: 0, note: '', isTyping: false }
}

export function pressKey(state: WatchState, key: WatchKey, now: number, shown: Shown): WatchStep {
  if (key.ctrl && (key.name === 'c' || key.name === 'd')) return { state, action: { kind: 'leave' } }
  if (state.isTyping) return { state: typeNote(state, key) }
  const at = state.tickets.findIndex(({ id }) => id === state.selected)
  const clear = { ...state, message: '' }
  const scrollTo = (line: number): WatchStep => ({
    state: { ...clear, scroll: Math.max(0, Math.min(line, shown.maxScroll)) },
  })
  const isOpen = state.view === 'ticket'
  switch (key.name) {
    case 'q':
      return { state, action: { kind: 'leave' } }
    case 'escape':
    case 'left':
      return { state: { ...clear, view: 'list', scroll: 0 } }
    case 'up':
    case 'k':
      return isOpen ? scrollTo(state.scroll - 1) : { state: select(clear, Math.max(0, at - 1), now) }
    case 'down':
    case 'j':
      return isOpen
        ? scrollTo(state.scroll + 1)
        : { state: select(clear, Math.min(state.tickets.length - 1, at + 1), now) }
    case 'pageup':
      return isOpen ? scrollTo(state.scroll - shown.page) : { state }
    case 'pagedown':
    case 'space':
      return isOpen ? scrollTo(state.scroll + shown.page) : { state }
    case 'return':
    case 'right':
      return {
        state: at < 0 ? clear : { ...clear, view: isOpen && key.name === 'return' ? 'list' : 'ticket', scroll: 0 },
      }
    case 'n':
      return { state: at < 0 ? clear : { ...clear, isTyping: true } }
    case 'a':
    case 'd':
      return decide(clear, key.name === 'a', now, shown)
    default:
      return { state }
  }
}

function decide(state: WatchState, approved: boolean, now: number, { isComplete }: Shown): WatchStep {
  const { selected: id, note } = state
  if (id === undefined) return { state }
  if (!isSettled(state, now))
    return { state: { ...state, message: 'This ticket has just come under the cursor. Look at it, then press again.' } }
  // A person approves what they have seen. To deny, they need not have seen all of it.
  if (approved && !isComplete)
    return {
      state: {
        ...state,
        ...(state.view === 'list' && { view: 'ticket', scroll: 0 }),
        message: 'Read it to the end first (space), then press a.',
      },
    }
  return { state, action: { kind: 'decide', id, approved, note } }
}

function typeNote(state: WatchState, { name, ctrl, text }: WatchKey): WatchState {
  if (name === 'return') return { ...state, isTyping: false }
  if (name === 'escape') return { ...state, isTyping: false, note: '' }
  if (name === 'backspace') return { ...state, note: [...state.note].slice(0, -1).join('') }
  const isText = !ctrl && text !== '' && !/\p{Cc}/u.test(text)
  return isText ? { ...state, note: `${state.note}${text}`.slice(0, maxNote) } : state
}
