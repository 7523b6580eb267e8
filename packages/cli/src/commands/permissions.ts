/** What `sluice people add --may` accepts. Separate from the command, which is loaded when it runs. */

import type { OperatorScope } from '@sluice/console'

/** The words of `--may`, with the scopes of the console. */
export const permissions: { readonly [word: string]: OperatorScope } = {
  approve: 'approvals:decide',
  keys: 'keys:manage',
  audit: 'audit:export',
  call: 'tools:call',
  upstreams: 'upstreams:manage',
}
