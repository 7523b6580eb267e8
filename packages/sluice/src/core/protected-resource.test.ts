import { expect, test } from 'vitest'
import { protectedResource } from './protected-resource.ts'

const authorizationServers = ['https://issuer.example']

test.each<[string, string, readonly string[]]>([
  [
    'https://mcp.example/mcp',
    'https://mcp.example/.well-known/oauth-protected-resource/mcp',
    ['/.well-known/oauth-protected-resource/mcp', '/.well-known/oauth-protected-resource'],
  ],
  [
    'https://mcp.example',
    'https://mcp.example/.well-known/oauth-protected-resource',
    ['/.well-known/oauth-protected-resource'],
  ],
  [
    'https://mcp.example/',
    'https://mcp.example/.well-known/oauth-protected-resource',
    ['/.well-known/oauth-protected-resource'],
  ],
  [
    'https://mcp.example:8443/a/b/',
    'https://mcp.example:8443/.well-known/oauth-protected-resource/a/b/',
    ['/.well-known/oauth-protected-resource/a/b/', '/.well-known/oauth-protected-resource'],
  ],
  [
    'http://127.0.0.1:3000/mcp',
    'http://127.0.0.1:3000/.well-known/oauth-protected-resource/mcp',
    ['/.well-known/oauth-protected-resource/mcp', '/.well-known/oauth-protected-resource'],
  ],
])('the document of %s is at the path of RFC 9728, and at the root', (resource, metadataUrl, paths) => {
  const made = protectedResource({ resource, authorizationServers })
  expect([made.metadataUrl, made.paths]).toEqual([metadataUrl, paths])
  // Exactly as configured, because a client compares it with the address it used.
  expect(JSON.parse(made.body)).toMatchObject({ resource })
})

test('the document names the issuers, how tokens are sent and the scopes to request', () => {
  const made = protectedResource({
    resource: 'https://mcp.example/mcp',
    authorizationServers,
    scopes: ['read'],
    name: 'Routes',
    documentation: 'https://docs.example',
  })
  expect(JSON.parse(made.body)).toEqual({
    resource: 'https://mcp.example/mcp',
    authorization_servers: authorizationServers,
    bearer_methods_supported: ['header'],
    scopes_supported: ['read'],
    resource_name: 'Routes',
    resource_documentation: 'https://docs.example',
  })
  expect(made.headers['content-type']).toBe('application/json')
})

test.each<[string, object]>([
  ['resource', { resource: 'mcp.example' }],
  ['resource', { resource: 'http://mcp.example' }],
  ['resource', { resource: 'http://localhost.evil.example' }],
  ['resource', { resource: 'https://mcp.example/#x' }],
  ['resource', { resource: 'https://mcp.example/?x' }],
  ['resource', { resource: 'https://user@mcp.example' }],
  ['resource', { resource: 'https://:password@mcp.example' }],
  ['authorizationServers', { authorizationServers: [] }],
  ['authorizationServers', { authorizationServers: ['http://issuer.example'] }],
  ['scopes', { scopes: ['two words'] }],
  ['scopes', { scopes: ['a"b'] }],
  ['scopes', { scopes: ['offline_access'] }],
])('an invalid "%s" is refused at the start', (text, options) => {
  expect(() => protectedResource({ resource: 'https://mcp.example', authorizationServers, ...options })).toThrow(text)
})
