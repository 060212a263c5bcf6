import type { SlotRows } from '../llm/shared-slots.ts'
import { query, type Database } from './database.ts'

/** The rows of slots. The table is not logged, so that no call waits for the disk; after a crash of PostgreSQL it is empty. */
export function modelSlots(db: Database): SlotRows {
  return {
    async create(provider, slots) {
      await query(
        db,
        `insert into model_slots (provider, slot) select :provider, slot from generate_series(1, :slots::integer) slot
         on conflict do nothing`,
        { provider, slots },
      )
    },
    async take({ provider, botId, lease, max, maxOfBot, leaseSeconds }) {
      const taken = await query(
        db,
        `with free as (
           select slot from model_slots
           where provider = :provider and slot <= :max and (expires_at is null or expires_at < now())
             and (select count(*) from model_slots
                  where provider = :provider and bot_id = :botId and expires_at >= now()) < :maxOfBot
           order by slot limit 1 for update skip locked
         )
         update model_slots taken
         set lease = :lease, bot_id = :botId, expires_at = now() + make_interval(secs => :leaseSeconds::double precision)
         from free where taken.provider = :provider and taken.slot = free.slot
         returning taken.slot`,
        { provider, botId, lease, max, maxOfBot, leaseSeconds },
      )
      return taken.length > 0
    },
    async renew(leases, leaseSeconds) {
      await query(
        db,
        `update model_slots set expires_at = now() + make_interval(secs => :leaseSeconds::double precision)
         where lease = any(:leases::uuid[]) and expires_at >= now()`,
        { leases, leaseSeconds },
      )
    },
    async free(lease) {
      await query(db, 'update model_slots set lease = null, bot_id = null, expires_at = null where lease = :lease', {
        lease,
      })
    },
  }
}
