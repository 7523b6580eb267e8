/**
 * The knowledge document's own test file, as written, against `handleMethod` of the package. Its helpers are in
 * `sluice/testing`. `knowledge-002.test.ts` checks the same and more, over every transport.
 */

import { readFileSync } from 'node:fs'
import { assertJsonRpcError, assertJsonRpcSuccess } from 'sluice/testing'
import { describe, expect, it, test } from 'vitest'
import { handleMethod } from '../../servers/knowledge/src/index.ts'

describe('MCP Protocol Handler', () => {
  describe('initialize method', () => {
    it('returns server info with correct structure', async () => {
      const result = await handleMethod({
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: { clientInfo: { name: 'test-client', version: '1.0.0' } },
      })

      expect(result).not.toBeNull()
      assertJsonRpcSuccess(result)
      expect(result.result).toHaveProperty('name', 'asdlc-knowledge-base')
      expect(result.result).toHaveProperty('protocolVersion', '2024-11-05')
      expect(result.result).toHaveProperty('capabilities')
      expect(result.result.capabilities).toHaveProperty('tools')
    })

    it('includes version in server info', async () => {
      const result = await handleMethod({
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
      })

      expect(result).not.toBeNull()
      assertJsonRpcSuccess(result)
      expect(result.result).toHaveProperty('version')
      expect(typeof result.result.version).toBe('string')
    })
  })

  describe('notifications/initialized method', () => {
    it('returns null for notification (no response)', async () => {
      const result = await handleMethod({
        jsonrpc: '2.0',
        method: 'notifications/initialized',
      })

      expect(result).toBeNull()
    })
  })

  describe('tools/list method', () => {
    it('returns all three tool definitions', async () => {
      const result = await handleMethod({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/list',
      })

      expect(result).not.toBeNull()
      assertJsonRpcSuccess(result)
      expect(result.result.tools).toHaveLength(3)

      const toolNames = result.result.tools.map(({ name }: { readonly name: string }) => name)
      expect(toolNames).toContain('list_articles')
      expect(toolNames).toContain('get_article')
      expect(toolNames).toContain('search_articles')
    })

    it('includes inputSchema for each tool', async () => {
      const result = await handleMethod({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/list',
      })

      assertJsonRpcSuccess(result)
      const tools = result.result.tools

      for (const tool of tools) {
        expect(tool).toHaveProperty('name')
        expect(tool).toHaveProperty('description')
        expect(tool).toHaveProperty('inputSchema')
        expect(tool.inputSchema).toHaveProperty('type', 'object')
        expect(tool.inputSchema).toHaveProperty('properties')
      }
    })
  })

  describe('tools/call method', () => {
    it('delegates to tool implementations', async () => {
      const result = await handleMethod({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: {
          name: 'list_articles',
          arguments: { limit: 5 },
        },
      })

      expect(result).not.toBeNull()
    })

    it('returns error for missing tool name', async () => {
      const result = await handleMethod({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: {
          arguments: {},
        },
      })

      expect(result).not.toBeNull()
      assertJsonRpcError(result)
      expect(result.error.code).toBe(-32602)
    })

    it('returns error for unknown tool', async () => {
      const result = await handleMethod({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: {
          name: 'nonexistent_tool',
          arguments: {},
        },
      })

      expect(result).not.toBeNull()
      assertJsonRpcError(result)
      expect(result.error.code).toBe(-32602)
    })
  })

  describe('Error Handling', () => {
    it('returns method not found for unknown methods', async () => {
      const result = await handleMethod({
        jsonrpc: '2.0',
        id: 1,
        method: 'unknown/method',
      })

      expect(result).not.toBeNull()
      assertJsonRpcError(result)
      expect(result.error.code).toBe(-32601)
      expect(result.error.message).toContain('unknown/method')
    })
  })

  describe('Response Format', () => {
    it('includes jsonrpc 2.0 in all responses', async () => {
      const result = await handleMethod({
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
      })

      expect(result).not.toBeNull()
      expect(result?.jsonrpc).toBe('2.0')
    })

    it('includes matching id in responses', async () => {
      const result = await handleMethod({
        jsonrpc: '2.0',
        id: 'test-id-123',
        method: 'initialize',
      })

      expect(result).not.toBeNull()
      expect(result?.id).toBe('test-id-123')
    })
  })
})

test('docs/documents.md says how many there are', () => {
  const written = readFileSync(new URL(import.meta.url), 'utf8').match(/^ *it\('/gm)?.length
  const text = readFileSync(new URL('../../docs/documents.md', import.meta.url), 'utf8')
  expect(text).toContain(`002: ${written} of 11 tests`)
})
