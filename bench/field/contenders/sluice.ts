/** Sluice over `node:http`. Earlier revisions are served without sessions, as the published Node server does. */
import { serveHttp } from 'sluice/node'
import { reportUrl } from '../../contenders/served.ts'
import { define } from '../sluice-definition.ts'

const http = await serveHttp(await define(), { port: 0, sessions: false })
reportUrl(http.url)
