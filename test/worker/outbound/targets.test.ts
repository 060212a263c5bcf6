import { expect, test } from 'vitest'
import { readConnectionTarget } from '../../../worker/outbound/targets.ts'

test.each([
  ['a host in another spelling', 'tls://MAIL.example.com.:993', ['mail.example.com:993'], ['*:993'], true],
  ['a host of a wildcard', 'tcp://imap.example.com:143', ['*.example.com:143'], ['imap.example.com:143'], true],
  ['an address', 'tcp://[::1]:5432', ['[::1]:5432'], ['*:5432'], true],
  ['any host, which may not be private', 'tcp://db.example.com:5432', ['*:5432'], ['db.example.com:5432'], false],
])('%s is reached where both lists name its port', (_, address, granted, permitted, mayBePrivate) => {
  expect(readConnectionTarget(address, granted, permitted)).toMatchObject({ isConnection: true, mayBePrivate })
})

test.each([
  [
    'a host that is granted without its port',
    'tcp://db.example.com:5432',
    ['db.example.com'],
    ['*:5432'],
    'permissions.net',
  ],
  ['all hosts without a port', 'tls://db.example.com:443', ['*'], ['*:443'], 'permissions.net'],
  ['another port', 'tcp://db.example.com:5433', ['db.example.com:5432'], ['*:5432'], 'permissions.net'],
  ['a host whose port the operator has not named', 'tcp://db.example.com:25', ['*:25'], ['*:5432'], 'OUTBOUND_CONNECT'],
  ['another protocol', 'https://db.example.com:5432', ['*:5432'], ['*:5432'], 'has a host and a port'],
  ['an address with a path', 'tcp://db.example.com:5432/x', ['*:5432'], ['*:5432'], 'has a host and a port'],
])('%s is refused', (_, address, granted, permitted, words) => {
  expect(() => readConnectionTarget(address, granted, permitted)).toThrow(words)
})
