/** The sign-in page: how to get a sign-in link, and a field for an operator key. */

import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { SessionInfo } from '../../api/index.ts'
import { ApiError, callApi, problemOf } from '../client.ts'
import { Brand } from '../icons.tsx'
import { Problem } from '../ui.tsx'

const cookieDropped =
  'This browser dropped the session cookie, as Safari does on plain http. Start the console with "cookie" set to "plain", or use another browser.'

export function SignInPage(props: {
  readonly problem: string | undefined
  readonly onSignedIn: (session: SessionInfo) => void
}): JSX.Element {
  const [key, setKey] = useState('')
  const [problem, setProblem] = useState(props.problem)
  const [busy, setBusy] = useState(false)

  async function submit(event: Event): Promise<void> {
    event.preventDefault()
    setBusy(true)
    try {
      await callApi('signIn', { key: key.trim() })
      props.onSignedIn(await callApi('getSession', {}))
    } catch (thrown) {
      const isDropped = thrown instanceof ApiError && thrown.status === 401 && thrown.message === 'Sign in first'
      setProblem(isDropped ? cookieDropped : problemOf(thrown))
    } finally {
      setBusy(false)
    }
  }
  return (
    <main class="sign-in">
      <form
        onSubmit={(event) => {
          submit(event).catch((thrown: unknown) => setProblem(problemOf(thrown)))
        }}
      >
        <Brand />
        <h1>Sign in to Sluice</h1>
        <p>Run this where the server runs, and open the link that it prints. The link works once.</p>
        <pre class="command">
          <code>sluice console link</code>
        </pre>
        <p>The page that you asked for opens then, and other open tabs sign in, too.</p>
        <label>
          <span>Or use an operator key</span>
          <input
            type="password"
            name="key"
            value={key}
            autoComplete="current-password"
            placeholder="op_…"
            onInput={(event) => setKey(event.currentTarget.value)}
          />
        </label>
        <p>
          To get a key for another person: <code>sluice people add &lt;name&gt; --may approve</code>
        </p>
        <Problem text={problem} />
        <button type="submit" class="button primary" disabled={busy || key.trim() === ''}>
          Sign in
        </button>
      </form>
    </main>
  )
}
