/** The FIFO queue of wake-ups. A wake-up that fails five times moves to the dead-letter queue. */
import { Duration, Validations } from 'aws-cdk-lib';
import { DeduplicationScope, FifoThroughputLimit, type IQueue, Queue, type QueueProps } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';

/** The maximum retention of SQS. */
const RETENTION = Duration.days(14);

const fifo: QueueProps = {
  fifo: true,
  // Per group instead of per queue, so that only the limit of a group applies.
  deduplicationScope: DeduplicationScope.MESSAGE_GROUP,
  fifoThroughputLimit: FifoThroughputLimit.PER_MESSAGE_GROUP_ID,
  enforceSSL: true,
};

export class WakeUpQueue extends Construct {
  readonly queue: IQueue;
  readonly deadLetters: IQueue;

  /** @param props.visibility - seconds after which a wake-up is delivered again if its worker has ended */
  constructor(scope: Construct, id: string, { visibility }: { visibility: number }) {
    super(scope, id);
    const deadLetters = new Queue(this, 'DeadLetters', { ...fifo, retentionPeriod: RETENTION });
    this.deadLetters = deadLetters;
    this.queue = new Queue(this, 'Queue', {
      ...fifo,
      visibilityTimeout: Duration.seconds(visibility),
      deadLetterQueue: { queue: deadLetters, maxReceiveCount: 5 },
    });
  }
}

/** Receives the positions of stream batches that failed permanently. */
export class FailedBatches extends Queue {
  constructor(scope: Construct, id: string) {
    super(scope, id, { enforceSSL: true, retentionPeriod: RETENTION });
    Validations.of(this).acknowledge({
      id: 'AwsSolutions-SQS3',
      reason: 'It is used like a dead-letter queue: only operators read it.',
    });
  }
}
