import { expect, test } from 'vitest'
import { toSubtitles } from '#shared/llm/subtitles.ts'

const segments = [
  { start: 0, end: 1.5, text: ' Hello there.' },
  { start: 59.9996, end: 3661.25, text: 'I said:\n\n2 --> 3 & <b>more</b>' },
]

test('subtitles of SubRip are numbered, with commas in their times', () => {
  expect(toSubtitles(segments, 'srt')).toBe(
    '1\n00:00:00,000 --> 00:00:01,500\nHello there.\n\n' +
      '2\n00:01:00,000 --> 01:01:01,250\nI said: 2 --> 3 & <b>more</b>\n',
  )
})

test('subtitles of WebVTT have a head, and no text that would be an arrow or a tag', () => {
  expect(toSubtitles(segments, 'vtt')).toBe(
    'WEBVTT\n\n00:00:00.000 --> 00:00:01.500\nHello there.\n\n' +
      '00:01:00.000 --> 01:01:01.250\nI said: 2 --&gt; 3 &amp; &lt;b&gt;more&lt;/b&gt;\n',
  )
  expect(toSubtitles([], 'vtt')).toBe('WEBVTT\n')
})

test('times beyond a day, and negative ones of a model in error, are times', () => {
  expect(toSubtitles([{ start: -1, end: 360_000, text: 'x' }], 'srt')).toBe('1\n00:00:00,000 --> 100:00:00,000\nx\n')
})
