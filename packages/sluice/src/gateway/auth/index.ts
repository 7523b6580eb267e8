/** `sluice/gateway-auth`: credentials of each caller at upstreams. A separate entry, so that only gateways that use it load it. */

export type { ClientSource } from './client-source.ts'
export type { ExchangeOptions } from './exchange-tokens.ts'
export { exchangeTokens } from './exchange-tokens.ts'
export type { SignInOptions } from './sign-in.ts'
export { signIn } from './sign-in.ts'
