/** The seam between the HTTP transports and whatever holds credentials: OAuth, a fixed token, a vault. */

/** A refusal by the server: 401, or 403 with a challenge. */
export interface Challenge {
  readonly status: number
  /** The `WWW-Authenticate` header, if there was one. */
  readonly header: string | undefined
  /** How often this request was challenged before. */
  readonly attempt: number
  /** The `Authorization` header that was refused. Another request may have brought a new token meanwhile. */
  readonly refused: string | undefined
}

/** Holds the credential for one server. */
export interface Authorization {
  /** Returns the value of the `Authorization` header, or `undefined` to send none. */
  token(): string | undefined | Promise<string | undefined>
  /** Handles a refusal. Resolves with `true` if the request should be repeated with a new token. */
  challenged(challenge: Challenge): Promise<boolean>
}

/** Returns an authorization with a fixed token. A refused token stays refused. */
export const bearer = (token: string): Authorization => ({
  token: () => `Bearer ${token}`,
  challenged: () => Promise.resolve(false),
})
