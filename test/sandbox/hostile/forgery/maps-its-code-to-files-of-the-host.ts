import { hostile } from '../hostile.ts'

export default hostile({
  body: `
    throw new Error('mapped')`,
  upload: {
    sourceMap: JSON.stringify({
      version: 3,
      file: 'bot.js',
      sources: ['/etc/passwd', '../../../etc/passwd'],
      sourceRoot: 'file:/',
      names: ['root'],
      mappings: 'AAAA;AACA;AACA;AACA;AACA;AACA;AACA;AACA;AACA;AACA;AACA;AACA;AACA',
    }),
  },
  outcome: 'error',
  failure: /Error: mapped/,
  never: /root:/,
})
