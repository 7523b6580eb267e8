/** A tool behind OAuth: tokens of one issuer, for this server, with a scope. */

import { authenticate, defineServer, tool } from 'sluice'
import { oauth } from 'sluice/jwt'
import { serve } from 'sluice/node'

const { ISSUER: issuer = '', RESOURCE: resource = '' } = process.env

const whoami = tool({
  name: 'whoami',
  description: 'Names the caller',
  scopes: ['profile:read'],
  run: (_input, { caller }) => caller.subject,
})

await serve(defineServer({ name: 'people', version: '1.0.0', tools: [whoami] }), {
  use: [authenticate(oauth({ issuer, resource }))],
})
