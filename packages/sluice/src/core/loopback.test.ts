import { expect, test } from 'vitest'
import { isLoopback, isSafeUrl } from './loopback.ts'

test.each([
  ...['localhost', 'LocalHost', '127.0.0.1', '127.0.0.2', '127.255.255.254', '::1', '[::1]', '::ffff:127.0.0.1'],
])('%s is loopback', (host) => {
  expect(isLoopback(host)).toBe(true)
})

test.each([
  ...['', '0.0.0.0', '::', '128.0.0.1', '10.0.0.1', '127.0.0.1.example.com', 'localhost.example.com', 'x127.0.0.1'],
  ...['127.1', '::ffff:10.0.0.1', '[127.0.0.1]', '127.0.0.1:80', 'localhost\n', '::1 '],
])('%j is not loopback', (host) => {
  expect(isLoopback(host)).toBe(false)
})

test.each([
  ['https://example.com/a?b', true],
  ['http://127.0.0.2:80/a', true],
  ['http://[::1]/', true],
  ['http://localhost', true],
  ['http://example.com', false],
  ['javascript:alert(1)', false],
  ['file:///etc/passwd', false],
  ['/page', false],
  ['', false],
])('the safety of the address %j is %j', (url, safe) => {
  expect(isSafeUrl(url)).toBe(safe)
})
