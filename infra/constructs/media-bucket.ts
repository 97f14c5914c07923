/** The bucket that holds the bytes of media: nobody's but the functions', for as long as addresses work. */
import { Duration, RemovalPolicy, Stack, Validations } from 'aws-cdk-lib';
import { BlockPublicAccess, Bucket, BucketEncryption, ObjectOwnership } from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';
import { LIFETIME } from '../../shared/media/media.ts';
import type { ServiceFunction } from './service-function.ts';

export class MediaBucket extends Bucket {
  constructor(scope: Construct, id: string, { retain }: { retain: boolean }) {
    super(scope, id, {
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
      encryption: BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      minimumTLSVersion: 1.2,
      // A day more: it must not go before its address does.
      lifecycleRules: [{ expiration: Duration.millis(LIFETIME).plus(Duration.days(1)) }],
      removalPolicy: retain ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    });
    Validations.of(this).acknowledge({
      id: 'AwsSolutions-S1',
      reason: 'Its access log would hold the ids of media, which are the secrets of their addresses.',
    });
  }

  /** Lets a function do this with every object, and nothing else. */
  letIn(user: ServiceFunction, action: 'PutObject' | 'GetObject'): void {
    user.allow([`s3:${action}`], this.arnForObjects('*'));
    const id = Stack.of(this).resolve(this.bucketArn)['Fn::GetAtt'][0];
    Validations.of(user).acknowledge({
      id: `AwsSolutions-IAM5[Resource::<${id}.Arn>/*]`,
      reason: 'Objects are named at random as they are made.',
    });
  }
}
