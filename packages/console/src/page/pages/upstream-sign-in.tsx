/**
 * The operator's own sign-in at an upstream: a link to its page, and a field for the code that the page shows. Consent
 * alone connects nothing, because a link can be sent to another person.
 */

import type { JSX } from 'preact'
import { useId, useRef, useState } from 'preact/hooks'
import type { OwnSignIns } from '../../api/index.ts'
import { callApi, problemOf } from '../client.ts'
import { Chip, Confirm, Problem, Visible } from '../ui.tsx'

interface SignInProps {
  readonly upstream: string
  readonly signIn: OwnSignIns
  readonly onChange: () => void
}

export const UpstreamSignIn = ({ upstream, signIn, onChange }: SignInProps): JSX.Element => (
  <section class="own-sign-in" aria-label={`Your sign-in to ${upstream}`}>
    <h3>Your sign-in</h3>
    {signIn.reason !== undefined && (
      <p class="dim">
        <Visible text={signIn.reason} />
      </p>
    )}
    {signIn.accounts.map((account) => (
      <Account key={account.tenant} {...{ upstream, account, onChange }} caller={signIn.caller} />
    ))}
  </section>
)

type AccountState = OwnSignIns['accounts'][number]

interface AccountProps {
  readonly upstream: string
  readonly caller: string
  readonly account: AccountState
  readonly onChange: () => void
}

function Account({ upstream, caller, account, onChange }: AccountProps): JSX.Element {
  const { tenant, state, wantsMore = false } = account
  const [url, setUrl] = useState<string>()
  const [isAsking, setIsAsking] = useState(false)
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string>()
  const heading = useRef<HTMLParagraphElement>(null)
  /** One request at a time. The state is loaded again in any case, because a refused code may have ended the sign-in. */
  function run(work: () => Promise<unknown>): void {
    setBusy(true)
    setProblem(undefined)
    work()
      .catch((thrown: unknown) => setProblem(problemOf(thrown)))
      .finally(() => {
        setBusy(false)
        onChange()
      })
  }
  const start = (): void =>
    run(async () => setUrl((await callApi('startUpstreamSignIn', { name: upstream, tenant })).url))
  const finish = (work: () => Promise<unknown>): void =>
    run(async () => {
      await work()
      setUrl(undefined)
      heading.current?.focus()
    })
  const isOpen = url !== undefined || state === 'waiting'
  return (
    <div class="account">
      <div class="account-head">
        <p class="account-state" role="status" ref={heading} tabIndex={-1}>
          <Chip tone={tones[state]}>{words[state]}</Chip>
          <span>
            for calls of <Visible text={caller} /> in the tenant <Visible text={tenant} />
          </span>
          {wantsMore && <Chip tone="warn">asks for more rights</Chip>}
        </p>
        {(state !== 'signed in' || wantsMore) && (
          <button type="button" class={`button small ${isOpen ? '' : 'primary'}`} disabled={busy} onClick={start}>
            {isOpen ? 'Start again' : wantsMore ? 'Sign in again' : 'Sign in'}
            <span class="unseen"> to {upstream}</span>
          </button>
        )}
        {state === 'signed in' && (
          <button type="button" class="button small" disabled={busy} onClick={() => setIsAsking(true)}>
            Sign out<span class="unseen"> of {upstream}</span>
          </button>
        )}
      </div>
      <Grant account={account} />
      {isOpen && (
        <Steps
          {...{ upstream, url, busy }}
          onCode={(code) => finish(() => callApi('confirmUpstreamSignIn', { name: upstream, tenant, code }))}
        />
      )}
      <Problem text={problem} />
      {isAsking && (
        <Confirm
          title={`Sign out of ${upstream}?`}
          action="Sign out"
          onNo={() => setIsAsking(false)}
          onYes={() => {
            setIsAsking(false)
            finish(() => callApi('endUpstreamSignIn', { name: upstream, tenant }))
          }}
        >
          <p>
            The tokens are deleted here, and revoked at the authorization server if it offers that. The next call of{' '}
            <Visible text={caller} /> asks for a sign-in.
          </p>
        </Confirm>
      )}
    </div>
  )
}

const tones = { 'signed out': 'plain', waiting: 'accent', 'signed in': 'good' } as const
const words = { 'signed out': 'not signed in', waiting: 'the code is missing', 'signed in': 'signed in' } as const

const Grant = ({ account: { issuer, scope } }: { readonly account: AccountState }): JSX.Element | null =>
  issuer === undefined ? null : (
    <p class="dim">
      By <Visible text={issuer} />
      {scope !== undefined && (
        <>
          , with the scopes <Visible text={scope} />
        </>
      )}
    </p>
  )

interface StepsProps {
  readonly upstream: string
  /** Absent if the sign-in was started elsewhere, and only the code is missing. */
  readonly url: string | undefined
  readonly busy: boolean
  readonly onCode: (code: string) => void
}

function Steps({ upstream, url, busy, onCode }: StepsProps): JSX.Element {
  const [code, setCode] = useState('')
  const field = useId()
  return (
    <ol class="sign-in-steps">
      {url !== undefined && (
        <li>
          <a href={url} target="_blank" rel="noopener noreferrer">
            Open the sign-in page
          </a>{' '}
          at <Visible text={new URL(url).host} />, and agree there. Keep the link to yourself.
        </li>
      )}
      <li>
        <form
          onSubmit={(event) => {
            event.preventDefault()
            onCode(code)
          }}
        >
          <label for={field}>Type the code that the page shows</label>
          <input
            id={field}
            type="text"
            name="code"
            inputMode="numeric"
            autoComplete="one-time-code"
            maxLength={40}
            value={code}
            onInput={(event) => setCode(event.currentTarget.value)}
          />
          <button type="submit" class="button primary small" disabled={busy || code.trim() === ''}>
            Connect<span class="unseen"> {upstream}</span>
          </button>
        </form>
      </li>
    </ol>
  )
}
