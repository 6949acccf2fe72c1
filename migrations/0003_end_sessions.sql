CREATE TABLE `ended_session` (
	`id` text PRIMARY KEY NOT NULL,
	`until` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `ended_session_by_time` ON `ended_session` (`until`);