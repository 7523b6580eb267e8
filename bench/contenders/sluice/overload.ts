/** A tool of 20 ms with ten concurrent calls: the capacity is five hundred calls a second. */
import { setTimeout as sleep } from 'node:timers/promises'
import { defineServer, tool } from 'sluice'
import { admission, serveHttp } from 'sluice/node'
import { toolShapes } from '../../lib/tools.ts'
import { reportUrl } from '../served.ts'

const tools = toolShapes(1).map(({ name, description, schema }) =>
  tool({ name, description, input: schema, run: ({ text }) => sleep(20, text) }),
)
const definition = defineServer({ name: 'bench', version: '1.0.0', tools })
const http = await serveHttp(definition, { port: 0, admission: admission({ concurrency: 10 }) })
reportUrl(http.url)
