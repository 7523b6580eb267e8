import { expect, test } from 'vitest'
import { childEnvironment, removeVariables, takeEnvironment } from './environment.ts'

test('a child process gets the variables for paths, text and time, and those that the server adds', () => {
  const env = { PATH: '/bin', HOME: '/home/ann', LC_ALL: 'C.UTF-8', Path: 'C:\\bin', UNSET: undefined }
  expect(childEnvironment(env, { SBCL_HOME: '/lib/sbcl', LATER: undefined })).toEqual({
    PATH: '/bin',
    HOME: '/home/ann',
    LC_ALL: 'C.UTF-8',
    Path: 'C:\\bin',
    SBCL_HOME: '/lib/sbcl',
  })
})

test.each([
  'SLUICE_SECRET',
  'SLUICE_WEBHOOK_SECRET',
  'SLUICE_REDIS_PASSWORD',
  'SLUICE_POSTGRES_PASSWORD',
  'SLUICE_TOKEN',
  'SLUICE_MEMORY_POSTGRES',
  'FITNESS_POSTGRES',
  'FITNESS_KEY',
  'STRAVA_CLIENT_SECRET',
  'TOMTOM_API_KEY',
  'AWS_SECRET_ACCESS_KEY',
  'DATABASE_URL',
  'HTTPS_PROXY',
  'NODE_OPTIONS',
  'LD_PRELOAD',
])('%s is not inherited', (name) => {
  expect(childEnvironment({ PATH: '/bin', [name]: 'redis://:hunter2@db' })).toEqual({ PATH: '/bin' })
})

test('taking the environment removes all variables of Sluice, and removeVariables removes the named ones', () => {
  const env = { PATH: '/bin', SLUICE_SECRET: 'a', SLUICE_WEBHOOK_SECRET: 'b', TOMTOM_API_KEY: 'c' }
  const taken = takeEnvironment(env)
  expect(env).toEqual({ PATH: '/bin', TOMTOM_API_KEY: 'c' })
  expect(taken).toMatchObject({ SLUICE_SECRET: 'a', SLUICE_WEBHOOK_SECRET: 'b', TOMTOM_API_KEY: 'c' })
  removeVariables(['TOMTOM_API_KEY', 'NEVER_SET'], env)
  expect(env).toEqual({ PATH: '/bin' })
})
