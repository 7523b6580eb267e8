/** Signing in and out. */

export const sessionRoutes = {
  signIn: {
    method: 'POST',
    path: '/api/session',
    about: 'Signs in with a one-time link or an operator key. The response sets the cookie.',
    input: {
      type: 'object',
      properties: { link: { type: 'string', maxLength: 256 }, key: { type: 'string', maxLength: 256 } },
    },
    output: { $ref: 'Session' },
  },
  getSession: {
    method: 'GET',
    path: '/api/session',
    about: 'Returns the current session.',
    input: { type: 'object', properties: {} },
    output: { $ref: 'Session' },
  },
  signOut: {
    method: 'POST',
    path: '/api/session/end',
    about: 'Ends the session. The cookie becomes invalid.',
    input: { type: 'object', properties: {} },
    output: { type: 'object', properties: {} },
  },
} as const
