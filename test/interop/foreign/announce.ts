/** Listens on a free port and prints the address, which the test that started the program reads. */

import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

export function announce(server: Server, path: string): void {
  server.listen(0, '127.0.0.1', () => {
    console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`)
  })
}
