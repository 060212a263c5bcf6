import type { SubtitleFormat } from '../models/openai-transcription.ts'
import type { Transcript } from './transcript-request.ts'

/** The segments of a transcript as subtitles: SubRip, or WebVTT of the W3C. */
export function toSubtitles(segments: Transcript['segments'], format: SubtitleFormat): string {
  const cues = segments.map(({ start, end, text }, index) => {
    const times = `${timeOf(start, format)} --> ${timeOf(end, format)}`
    return format === 'srt' ? `${index + 1}\n${times}\n${lineOf(text)}\n` : `${times}\n${escaped(lineOf(text))}\n`
  })
  return [...(format === 'vtt' ? ['WEBVTT\n'] : []), ...cues].join('\n')
}

/** A line break within a cue could end it. */
function lineOf(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}

/** Tags and the arrow between the times are a part of WebVTT. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** A number of seconds as hours, minutes, seconds and milliseconds. */
function timeOf(given: number, format: SubtitleFormat): string {
  const total = Math.max(0, Math.round(given * 1000))
  const hours = Math.floor(total / 3_600_000)
  const [minutes, seconds, milliseconds] = [
    Math.floor(total / 60_000) % 60,
    Math.floor(total / 1000) % 60,
    total % 1000,
  ]
  const clock = [hours, minutes, seconds].map((part) => String(part).padStart(2, '0')).join(':')
  return `${clock}${format === 'srt' ? ',' : '.'}${String(milliseconds).padStart(3, '0')}`
}
