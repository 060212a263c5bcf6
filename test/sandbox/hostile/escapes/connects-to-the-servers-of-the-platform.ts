import { hostile } from '../hostile.ts'

/** By every spelling of their address, and to the addresses at which clouds tell credentials. */
export default hostile({
  sdk: true,
  body: `
    const net = require('net'), tls = require('tls')
    const hosts = ['127.0.0.1', '127.1', '127.0.0.2', '2130706433', '0x7f000001', '0177.0.0.1', '0', '0.0.0.0', 'localhost', 'localhost.', 'LOCALHOST', '\\uff11\\uff12\\uff17.0.0.1', '::1', '::', '::ffff:127.0.0.1', '::ffff:7f00:1', '[::1]', '64:ff9b::7f00:1', '::127.0.0.1', 'fe80::1%lo', '', undefined]
    const open = (connect, port, host) => new Promise((resolve) => {
      try {
        const socket = connect({ port, host, servername: 'localhost', rejectUnauthorized: false })
        socket.on('error', ({ code, name, message }) => resolve(code ?? name + message))
        socket.on('connect', () => resolve('connected ' + port + ' ' + host))
      } catch ({ code, name }) { resolve(code ?? name) }
    })
    const found = new Set()
    for (const port of servers.own) for (const host of hosts) found.add(await open(net.connect, port, host))
    for (const port of servers.own) found.add(await open(tls.connect, port, '127.0.0.1'))
    const clouds = ['169.254.169.254', '2852039166', '0xa9fea9fe', '::ffff:169.254.169.254', 'fd00:ec2::254', '100.100.100.200', '10.0.0.1', '192.168.0.1']
    for (const host of clouds) found.add(await open(net.connect, 80, host))
    await say([...found].sort().join())
    await say(String(await open(net.connect, servers.echo, '127.0.0.1')).split(' ')[0])`,
  outcome: 'done',
  upload: { limits: { cpuMilliseconds: 10_000, fetches: 100 } },
  replies: ['EACCES,EINVAL', 'connected'],
})
