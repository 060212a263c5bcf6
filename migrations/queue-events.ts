import type { Client } from 'pg'

/**
 * Lets the queue in PostgreSQL publish no events. BullMQ stores and announces two to three for each step of a job, for
 * observers of a queue that the platform does not have. They are a third of the queue's work, and their notifications
 * wake every connection that listens.
 */
export async function withoutQueueEvents(client: Client): Promise<void> {
  await client.query(`
    create or replace function bullmq.publish_event(p_queue text, p_event text, p_data jsonb) returns bigint
      language sql as 'select 0::bigint';
    create or replace rule unpublished as on insert to bullmq.event do instead nothing;
  `)
}
