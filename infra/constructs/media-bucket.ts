/** The private bucket with the bytes of media. Only functions can read it, and objects expire after their URLs. */
import { Duration, RemovalPolicy, Stack, Validations } from 'aws-cdk-lib';
import { BlockPublicAccess, Bucket, BucketEncryption, ObjectOwnership } from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';
import { LIFETIME } from '../../shared/media/media.ts';
import type { ServiceFunction } from './function/service-function.ts';

export class MediaBucket extends Bucket {
  constructor(scope: Construct, id: string, { retain }: { retain: boolean }) {
    super(scope, id, {
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
      encryption: BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      minimumTLSVersion: 1.2,
      // One day longer than the URL, so that the object does not expire first.
      lifecycleRules: [{ expiration: Duration.millis(LIFETIME).plus(Duration.days(1)) }],
      removalPolicy: retain ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    });
    Validations.of(this).acknowledge({
      id: 'AwsSolutions-S1',
      reason: 'Its access log would contain the ids of media, which are the secret part of their URLs.',
    });
  }

  /** Allows a function this action on every object. */
  allow(user: ServiceFunction, action: 'PutObject' | 'GetObject'): void {
    user.allow([`s3:${action}`], this.arnForObjects('*'));
    const id = Stack.of(this).resolve(this.bucketArn)['Fn::GetAtt'][0];
    Validations.of(user).acknowledge({
      id: `AwsSolutions-IAM5[Resource::<${id}.Arn>/*]`,
      reason: 'Objects get random names when they are created.',
    });
  }
}
