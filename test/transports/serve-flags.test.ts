/** `serve`, which reads the flags of the program. */

import { defineServer } from 'sluice'
import { serve, serveHttp } from 'sluice/node'
import { expect, onTestFinished, test } from 'vitest'

test('a port in use is named, with what to do', async () => {
  const definition = defineServer({ name: 'hello', version: '1.0.0' })
  const first = await serveHttp(definition, { port: 0 })
  onTestFinished(() => first.close())
  const { argv } = process
  onTestFinished(() => {
    process.argv = argv
  })
  const { port } = new URL(first.url)
  process.argv = [...argv.slice(0, 2), '--port', port]
  await expect(serve(definition)).rejects.toThrow(`Port ${port} is in use; choose another with --port`)
})
