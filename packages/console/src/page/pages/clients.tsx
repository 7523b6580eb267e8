/** The lines that connect each client, to copy. They are the files that `sluice start` writes, without the key. */

import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { ClientFile } from '../../api/index.ts'
import { callApi } from '../client.ts'
import { Code, toLines } from '../code.tsx'
import { useQuery } from '../hooks.ts'
import { PageHeader, Problem } from '../ui.tsx'

export function ClientsPage(): JSX.Element {
  const { data, problem } = useQuery(() => callApi('listClients', {}), '')
  return (
    <>
      <PageHeader title="Clients" />
      <Problem text={problem} />
      <p class="lead">
        Paste these lines into your client. Put a key in the place of <code>YOUR_API_KEY</code>: keys are stored as
        hashes, so none can be shown here. <code>sluice keys create &lt;name&gt;</code> makes one.
      </p>
      <div class="cards">
        {data?.clients.map((client) => (
          <Client key={client.client} client={client} />
        ))}
      </div>
    </>
  )
}

function Client({ client }: { readonly client: ClientFile }): JSX.Element {
  const [copied, setCopied] = useState('')
  const copy = (): void => {
    navigator.clipboard.writeText(client.text).then(
      () => setCopied('Copied'),
      () => setCopied('The browser did not allow it: select the lines and copy them'),
    )
  }
  return (
    <section class="card client">
      <h2>{client.client}</h2>
      <p class="dim">
        Goes into <code>{client.destination}</code>
      </p>
      <Code label={`Configuration for ${client.client}`} small>
        {toLines(client.text.trimEnd())}
      </Code>
      <p class="client-copy">
        <button type="button" class="button" onClick={copy}>
          Copy<span class="unseen"> the lines for {client.client}</span>
        </button>
        <span role="status" class="dim">
          {copied}
        </span>
      </p>
    </section>
  )
}
