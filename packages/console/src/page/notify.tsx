/**
 * Shows waiting tickets outside the page: a dot on the icon, a badge on an installed app, and notifications. The browser
 * asks the person only after a click on the button, never when the page opens.
 */

import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { markedText } from 'sluice/approvals'
import type { TicketSummary } from '../api/index.ts'
import { callApi } from './client.ts'
import { subscribe } from './event-stream.ts'
import icon from './icon.svg?url'
import waitingIcon from './icon-waiting.svg?url'
import * as icons from './icons.tsx'

/** Shows the number on the icon of the tab and of an installed app. The title of the page has it too. */
export function showBadge(pending: number): void {
  document.querySelector('link[rel="icon"]')?.setAttribute('href', pending > 0 ? waitingIcon : icon)
  if (!('setAppBadge' in navigator)) return
  // A browser in which the page is not installed as an app may refuse.
  const shown = pending > 0 ? navigator.setAppBadge(pending) : navigator.clearAppBadge()
  shown.catch(() => {})
}

const key = 'sluice-notify'
const stored = (): boolean => {
  try {
    return localStorage.getItem(key) === 'on'
  } catch {
    return false
  }
}
function store(isOn: boolean): void {
  try {
    localStorage.setItem(key, isOn ? 'on' : 'off')
  } catch {
    // Without storage the choice lasts until the page is closed.
  }
}

export function NotifyButton(): JSX.Element | null {
  const [permission, setPermission] = useState(() => ('Notification' in window ? Notification.permission : undefined))
  const [isWanted, setWanted] = useState(stored)
  const isOn = isWanted && permission === 'granted'
  useEffect(() => (isOn ? notifyOfNewTickets() : undefined), [isOn])
  if (permission === undefined) return null
  const isBlocked = permission === 'denied'
  const label = isBlocked ? 'Notifications are blocked in this browser' : 'Notify me of new tickets'
  const toggle = async (): Promise<void> => {
    const granted = permission === 'granted' ? permission : await Notification.requestPermission()
    setPermission(granted)
    const next = granted === 'granted' && !isOn
    setWanted(next)
    store(next)
  }
  return (
    <button
      type="button"
      class="icon-button"
      aria-label={label}
      title={isOn ? `${label}: on` : label}
      aria-pressed={isOn}
      disabled={isBlocked}
      onClick={() => {
        toggle().catch(() => setPermission(Notification.permission))
      }}
    >
      {isOn ? <icons.Bell /> : <icons.BellOff />}
    </button>
  )
}

const maxTickets = 100

/**
 * Shows a notification for tickets that this person may decide and that were not there before. Returns a function that
 * stops it.
 */
function notifyOfNewTickets(): () => void {
  let known: ReadonlySet<string> | undefined
  const look = async (): Promise<void> => {
    const { tickets } = await callApi('listTickets', { status: 'pending', limit: maxTickets })
    const fresh = tickets.filter(({ id, mayDecide }) => mayDecide && known !== undefined && !known.has(id))
    known = new Set(tickets.map(({ id }) => id))
    // A person who looks at the page sees the ticket there.
    if (fresh.length > 0 && (document.hidden || !document.hasFocus())) notify(fresh)
  }
  const run = (): void => {
    // The next event looks again.
    look().catch(() => {})
  }
  run()
  return subscribe('tickets', run)
}

/** Names the tool and the caller. The arguments stay in the page, because a locked screen shows notifications to everyone. */
function notify(tickets: readonly TicketSummary[]): void {
  const [first] = tickets
  if (!first) return
  const isOne = tickets.length === 1
  const notification = new Notification(
    isOne ? 'A call needs your approval' : `${tickets.length} calls need your approval`,
    {
      body: markedText(
        isOne ? `${first.server}/${first.tool} for ${first.caller}` : `The first is ${first.server}/${first.tool}`,
      ),
      icon,
      tag: `sluice-${first.id}`,
    },
  )
  notification.onclick = () => {
    window.focus()
    location.hash = isOne ? `#/approvals/${encodeURIComponent(first.id)}` : '#/approvals'
    notification.close()
  }
}
