import { expect, test } from 'vitest'
import { createHostGuard, isPrivateAddress } from './hosts.ts'

test.each([
  ...[
    '127.0.0.1',
    '10.1.2.3',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
  ],
  ...['224.0.0.1', '255.255.255.255', '192.0.2.1', '198.18.0.1', '198.51.100.7', '203.0.113.9'],
  ...['::', '::1', 'fe80::1', 'fe80::1%eth0', 'fc00::1', 'fd12::1', 'ff02::1', '::ffff:10.0.0.1', '::ffff:a00:1'],
  ...['64:ff9b::10.0.0.1', '2002:a00:1::', '2001:db8::1', '::127.0.0.1', 'nonsense:', '1:2:3'],
])('%s is private', (address) => {
  expect(isPrivateAddress(address)).toBe(true)
})
test.each([
  '8.8.8.8',
  '172.32.0.1',
  '100.128.0.1',
  '2606:4700::1111',
  '::ffff:8.8.8.8',
  '64:ff9b::808:808',
  '2002:808:808::',
])('%s is public', (address) => {
  expect(isPrivateAddress(address)).toBe(false)
})

const server = 'https://mcp.example.com/mcp'
test('the server itself and public hosts are allowed by default', () => {
  const { check } = createHostGuard(server)
  for (const url of [server, 'https://id.example.com/token', 'https://8.8.8.8/']) expect(() => check(url)).not.toThrow()
})
test.each([
  'http://localhost:8080/',
  'http://metadata.internal/',
  'http://printer.local/',
  'https://[::1]/',
  'https://192.168.0.1/',
  'http://2130706433/',
  'http://0x7f.1/',
  'ftp://example.com/',
  'nonsense',
])('%s is refused', (url) => {
  expect(() => createHostGuard(server).check(url)).toThrow('Not requested')
})
test('with an allow-list only its hosts and the server are reached, private ones too', () => {
  const { check } = createHostGuard(server, { allowHosts: ['id.internal'] })
  expect(() => check('https://id.internal/token')).not.toThrow()
  expect(() => check(server)).not.toThrow()
  expect(() => check('https://id.example.com/')).toThrow('allowHosts')
})
test('a client of a local server reaches this machine under each of its names', () => {
  const { check } = createHostGuard('http://localhost:3000/mcp')
  expect(() => check('http://127.0.0.1:4000/token')).not.toThrow()
  expect(() => check('http://10.0.0.1/')).toThrow('private')
})
