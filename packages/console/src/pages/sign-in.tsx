/** For who is not signed in: an operator key, or where to find the link. */

import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { SessionInfo } from '../../../sluice/src/operate/console/api.ts'
import { ApiError, callApi, problemOf } from '../client.ts'
import { Brand } from '../icons.tsx'
import { Problem } from '../ui.tsx'

const cookieDropped =
  'You are signed in, but this browser did not keep the cookie. Safari does so on plain http: start the console with cookie: "plain", or use another browser.'

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
      const lost = thrown instanceof ApiError && thrown.status === 401 && thrown.message === 'Sign in first'
      setProblem(lost ? cookieDropped : problemOf(thrown))
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
        <p>Open the link that was printed when the server started. It works once; the server can print another.</p>
        <label>
          <span>Or an operator key</span>
          <input
            type="password"
            name="key"
            value={key}
            autoComplete="current-password"
            placeholder="op_…"
            onInput={(event) => setKey(event.currentTarget.value)}
          />
        </label>
        <Problem text={problem} />
        <button type="submit" class="button primary" disabled={busy || key.trim() === ''}>
          Sign in
        </button>
      </form>
    </main>
  )
}
