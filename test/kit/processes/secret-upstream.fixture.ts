/** A server on stdio that prints its environment, as careless programs do, and tells the hashes of its secrets. */

import { createHash } from 'node:crypto'
import { defineServer, tool } from 'sluice'
import { createServer, serveStdio } from 'sluice/node'
import { z } from 'zod'

const { FROM_ENV = '', FROM_FILE = '', FROM_KEYCHAIN = '' } = process.env
process.stderr.write(`settings: ${JSON.stringify({ FROM_ENV, FROM_FILE, FROM_KEYCHAIN })}\n`)
const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')
const hashes = tool({
  name: 'hashes',
  description: 'Returns the hashes of the secrets.',
  input: z.object({}),
  run: () => [FROM_ENV, FROM_FILE, FROM_KEYCHAIN].map(hashOf).join(' '),
})
serveStdio(createServer(defineServer({ name: 'careless', version: '1.0.0', tools: [hashes] })))
