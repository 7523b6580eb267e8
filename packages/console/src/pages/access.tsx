import type { JSX } from 'preact'
export const AccessPage = (_: { readonly servers: readonly string[] }): JSX.Element => <p />
