/**
 * The messages for every contender, in the form of its newest protocol revision.
 *
 * They are in one file, so that no contender gets an easier question. Every answer must contain `hello world`;
 * otherwise the contender is not measured.
 */

export const echoText = 'hello world'

/** The newest revision of a contender. From 2026-07-28 on every request carries its own envelope. */
export type Revision = '2025-06-18' | '2025-11-25' | '2026-07-28'

const envelope = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}

export const jsonText = (method: string, params: object, revision: Revision, id: number): string =>
  JSON.stringify({
    jsonrpc: '2.0',
    id,
    method,
    params: revision === '2026-07-28' ? { ...params, _meta: envelope } : params,
  })

export const callMessage = (revision: Revision, id = 1): string =>
  jsonText('tools/call', { name: 'echo', arguments: { text: echoText } }, revision, id)

export const listMessage = (revision: Revision, id = 1): string => jsonText('tools/list', {}, revision, id)

/** Returns the messages that a stdio server of an earlier revision needs before its first call. */
export const openingMessages = (revision: Revision): readonly string[] =>
  revision === '2026-07-28'
    ? []
    : [
        jsonText(
          'initialize',
          { protocolVersion: revision, capabilities: {}, clientInfo: { name: 'bench', version: '1' } },
          revision,
          0,
        ),
        '{"jsonrpc":"2.0","method":"notifications/initialized"}',
      ]

export const httpHeaders = (method: string, revision: Revision, tool = 'echo'): Record<string, string> => ({
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': revision,
  ...(revision === '2026-07-28' && {
    'mcp-method': method,
    ...(method === 'tools/call' && { 'mcp-name': tool }),
  }),
})
