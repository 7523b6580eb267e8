/** The frame of all pages: the signed-in operator, the navigation, and the number of pending tickets. */

import type { JSX } from 'preact'
import { useCallback, useEffect, useState } from 'preact/hooks'
import type { SessionInfo } from '../api/index.ts'
import { callApi, onSessionEnd, problemOf, rememberCsrf } from './client.ts'
import { closeEventStream, onConnected, openEventStream, subscribe } from './event-stream.ts'
import { auditQuery, routeParts, setServerTime, useRoute } from './hooks.ts'
import * as icons from './icons.tsx'
import { NotifyButton, showBadge } from './notify.tsx'
import { AccessPage } from './pages/access.tsx'
import { ApprovalsPage } from './pages/approvals.tsx'
import { AuditPage } from './pages/audit.tsx'
import { ClientsPage } from './pages/clients.tsx'
import { DayPage } from './pages/day.tsx'
import { LivePage } from './pages/live.tsx'
import { SignInPage } from './pages/sign-in.tsx'
import { TenantsPage } from './pages/tenants.tsx'
import { ToolsPage } from './pages/tools.tsx'
import { UpstreamsPage } from './pages/upstreams.tsx'
import { announceSignIn, onSignInElsewhere, rememberAsked, takeAsked } from './sign-in-state.ts'
import type { Theme } from './theme.ts'
import { applyTheme, currentTheme } from './theme.ts'

const pages = [
  ['approvals', 'Approvals', icons.Approvals],
  ['live', 'Live', icons.Live],
  ['tools', 'Tools', icons.Tools],
  ['upstreams', 'Upstreams', icons.Upstreams],
  ['access', 'Access', icons.Access],
  ['tenants', 'Tenants', icons.Tenants],
  ['audit', 'Audit', icons.Audit],
  ['clients', 'Clients', icons.Clients],
] as const

/** Pages that exist only if the console has something to show there. */
const sometimes: ReadonlySet<string> = new Set(['upstreams', 'clients'])

type State = { readonly session: SessionInfo } | { readonly signIn: string | undefined } | 'loading'

export function App(): JSX.Element {
  const [state, setState] = useState<State>('loading')
  const enter = useCallback((session: SessionInfo) => {
    rememberCsrf(session.csrf)
    setServerTime(session.now)
    setState({ session })
  }, [])
  const enterAndAnnounce = useCallback(
    (session: SessionInfo) => {
      enter(session)
      takeAsked()
      announceSignIn()
    },
    [enter],
  )
  useEffect(() => {
    const showSignIn = (problem: string | undefined): void => {
      closeEventStream()
      rememberAsked(location.hash)
      setState({ signIn: problem })
    }
    const begin = (): void => {
      startSession(enter).catch((thrown: unknown) => showSignIn(linkProblem(thrown)))
    }
    onSessionEnd(() => showSignIn(undefined))
    begin()
    // A link that is pasted into the address of an open page changes only the fragment.
    const onHashChange = (): void => {
      if (signInToken() !== undefined) begin()
    }
    addEventListener('hashchange', onHashChange)
    // Another person may have signed in there, so a page with a session reads it again, too.
    const unsubscribe = onSignInElsewhere(() => {
      callApi('getSession', {}).then(enter, () => {})
    })
    // A page restored from the browser's back-forward cache may belong to an operator who has signed out.
    addEventListener('pageshow', (event) => event.persisted && location.reload())
    return () => {
      removeEventListener('hashchange', onHashChange)
      unsubscribe()
    }
  }, [enter])

  if (state === 'loading') return <main class="loading" aria-busy="true" />
  if ('signIn' in state) return <SignInPage key={state.signIn} problem={state.signIn} onSignedIn={enterAndAnnounce} />
  return <Layout session={state.session} />
}

let openedByLink = false

function signInToken(): string | undefined {
  const [page, token] = routeParts(location.hash)
  return page === 'sign-in' ? token : undefined
}

/** Signs in by the link in the address, removes the link from the history, and opens the page that was asked for. */
async function startSession(enter: (session: SessionInfo) => void): Promise<void> {
  const token = signInToken()
  openedByLink = token !== undefined
  if (token === undefined) {
    enter(await callApi('getSession', {}))
    return
  }
  history.replaceState(null, '', '#/approvals')
  await callApi('signIn', { link: token })
  const session = await callApi('getSession', {})
  history.replaceState(null, '', takeAsked() ?? '#/approvals')
  // The history does not announce a replaced address.
  dispatchEvent(new HashChangeEvent('hashchange'))
  enter(session)
  announceSignIn()
}
const linkProblem = (thrown: unknown): string | undefined => {
  if (!openedByLink) return undefined
  return problemOf(thrown)
}

function Layout({ session }: { readonly session: SessionInfo }): JSX.Element {
  const [page = '', ...rest] = useRoute()
  const [pending, setPending] = useState(0)
  const [connected, setConnected] = useState(true)
  useEffect(() => {
    openEventStream('')
    const unsubscribers = [
      subscribe('tickets', ({ pending: count }) => setPending(count)),
      subscribe('over', () => location.reload()),
      onConnected(setConnected),
    ]
    return () => {
      for (const unsubscribe of unsubscribers) unsubscribe()
      closeEventStream()
    }
  }, [])
  const shown = pages.filter(([name]) => !sometimes.has(name) || session.pages.some((each) => each === name))
  const currentPage = shown.some(([name]) => name === page) ? page : 'approvals'
  const [, title = ''] = shown.find(([name]) => name === currentPage) ?? []
  useEffect(() => {
    document.title = `${pending > 0 ? `(${pending}) ` : ''}${title} · Sluice`
  }, [pending, title])
  useEffect(() => {
    showBadge(pending)
    return () => showBadge(0)
  }, [pending])

  // On a phone the navigation scrolls, and the current page must be seen in it.
  useEffect(() => {
    document.querySelector('.side [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [currentPage])

  return (
    <div class="frame">
      <button type="button" class="skip button" onClick={() => document.getElementById('main')?.focus()}>
        Skip to content
      </button>
      <nav class="side" aria-label="Console">
        <div class="brand">
          <icons.Brand />
          <span>Sluice</span>
        </div>
        <ul>
          {shown.map(([name, label, Icon]) => (
            <li key={name}>
              <a href={`#/${name}`} aria-current={currentPage === name ? 'page' : undefined}>
                <Icon />
                <span>{label}</span>
                {name === 'approvals' && pending > 0 && (
                  <span class="badge">
                    {pending > 999 ? '999+' : pending}
                    <span class="unseen"> waiting</span>
                  </span>
                )}
              </a>
            </li>
          ))}
        </ul>
        <div class="side-foot">
          {!connected && (
            <p class="offline" role="status">
              Reconnecting…
            </p>
          )}
          <p
            class="who"
            title={session.operator.tenants.length > 0 ? session.operator.tenants.join(', ') : 'All tenants'}
          >
            {session.operator.name}
          </p>
          <div class="side-buttons">
            <NotifyButton />
            <ThemeButton />
            <button
              type="button"
              class="icon-button"
              aria-label="Sign out"
              title="Sign out"
              onClick={() => {
                signOut().catch(() => location.reload())
              }}
            >
              <icons.SignOut />
            </button>
          </div>
        </div>
      </nav>
      <main id="main" tabIndex={-1}>
        {currentPage === 'approvals' && <ApprovalsPage id={rest[0]} operator={session.operator} pending={pending} />}
        {currentPage === 'live' && rest[0] !== 'day' && <LivePage servers={session.servers} />}
        {currentPage === 'live' && rest[0] === 'day' && <DayPage servers={session.servers} />}
        {currentPage === 'tools' && <ToolsPage operator={session.operator} />}
        {currentPage === 'upstreams' && <UpstreamsPage operator={session.operator} />}
        {currentPage === 'access' && <AccessPage servers={session.servers} />}
        {currentPage === 'clients' && <ClientsPage />}
        {currentPage === 'tenants' && <TenantsPage operator={session.operator} />}
        {currentPage === 'audit' && (
          <AuditPage key={location.hash} operator={session.operator} query={auditQuery(location.hash)} />
        )}
      </main>
    </div>
  )
}

async function signOut(): Promise<void> {
  await callApi('signOut', {}).catch(() => {})
  location.hash = ''
  location.reload()
}

const themes: { readonly [theme in Theme]: readonly [next: Theme, Icon: () => JSX.Element, label: string] } = {
  system: ['light', icons.System, 'Colours: system'],
  light: ['dark', icons.Sun, 'Colours: light'],
  dark: ['system', icons.Moon, 'Colours: dark'],
}

function ThemeButton(): JSX.Element {
  const [theme, setTheme] = useState(currentTheme)
  const [next, Icon, label] = themes[theme]
  const change = (): void => {
    applyTheme(next)
    setTheme(next)
  }
  return (
    <button type="button" class="icon-button" aria-label={label} title={label} onClick={change}>
      <Icon />
    </button>
  )
}
