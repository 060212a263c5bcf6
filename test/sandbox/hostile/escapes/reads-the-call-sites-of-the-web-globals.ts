import { hostile } from '../hostile.ts'

export default hostile({
  body: `
    const sites = []
    Error.prepareStackTrace = (_, trace) => { sites.push(...trace); return 'a stack' }
    const look = () => { void new Error('look').stack; return 'x' }
    const shown = { toString: look, get x() { return look() } }
    const tries = [() => new URL(shown), () => new URLSearchParams(shown), () => new Headers(shown), () => new Request(shown), () => new Response(shown),
      () => structuredClone(shown), () => btoa(shown), () => new TextEncoder().encode(shown), () => fetch(shown), () => new URL('no URL').x, () => atob('*')]
    for (const attempt of tries) { try { await attempt() } catch (error) { void error.stack } }
    const own = sites.filter((site) => !['bot.js', 'kernel', null, undefined].includes(site.getFileName()))
    await say(own.length > 5)
    await say([...new Set(own.filter((site) => site.getFunction() !== undefined || site.getThis() !== undefined).map((site) => site.getFunctionName()))].join())`,
  outcome: 'done',
  replies: ['true', 'nothing'],
})
