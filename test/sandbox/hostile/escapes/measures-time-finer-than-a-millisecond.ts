import { hostile } from '../hostile.ts'

export default hostile({
  body: `
    const clocks = [() => performance.now(), () => Date.now(), () => new Date().getTime(), () => new Event('x').timeStamp, () => performance.timeOrigin]
    for (const clock of clocks) {
      let fine = false
      for (let n = 0; n < 1000 && !fine; n += 1) { const time = clock(); fine = !Number.isInteger(time) }
      await say(fine)
    }
    await say(typeof performance.now() + typeof Intl.DateTimeFormat.prototype.formatToParts)`,
  outcome: 'done',
  replies: ['false', 'false', 'false', 'false', 'false', 'numberfunction'],
})
