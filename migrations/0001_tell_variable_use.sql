-- A hand-out tells which variables were given to which build: kept beside the audit row, in its own statement.
CREATE TRIGGER audit_tells_variable_use AFTER INSERT ON audit WHEN NEW.action = 'build.deliver'
BEGIN
  INSERT OR IGNORE INTO variable_use (variable_id, build_id, agent_id, at)
    SELECT value, NEW.subject, json_extract(NEW.detail, '$.agentId'), NEW.at
    FROM json_each(NEW.detail, '$.variableIds');
  UPDATE variable SET last_used_at = NEW.at, last_used_by = NEW.subject
    WHERE id IN (SELECT value FROM json_each(NEW.detail, '$.variableIds'))
    AND org_id = NEW.org_id AND (last_used_at IS NULL OR last_used_at < NEW.at);
END;
